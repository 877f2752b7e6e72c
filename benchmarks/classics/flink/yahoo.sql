CREATE STREAMING TABLE seen AS
SELECT campaign, `at`
FROM visit JOIN campaigns FOR SYSTEM_TIME AS OF visit.`at` ON visit.advertisement = campaigns.advertisement
WHERE action = 'view';

CREATE STREAMING TABLE yahoo AS
SELECT campaign, count(*) AS `views`, window_start AS `start`
FROM TABLE(TUMBLE(TABLE seen, DESCRIPTOR(`at`), INTERVAL '10' SECOND))
GROUP BY campaign, window_start, window_end;
