-- A report per flight, made when it landed: see sql/prepare.py. Watermark: departures that were reported are
-- trusted to be complete up to two hours before the newest one.
CREATE STREAM IF NOT EXISTS flights (
  reported TIMESTAMP COMMENT 'when it landed; of a cancelled flight, when it was to depart',
  scheduled TIMESTAMP,
  departed TIMESTAMP COMMENT 'NULL: cancelled',
  carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING,
  dep_delay INT COMMENT 'minutes; negative: early', arr_delay INT, air_time INT, distance INT COMMENT 'miles'
)
USING csv
OPTIONS (path 'demo-data/landing/flights', header 'true')
WATERMARK departed DELAY OF INTERVAL 2 HOURS
COMMENT 'Flights from New York in 2013, in the order in which they were reported';
