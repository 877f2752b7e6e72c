"""Kafka, source and sink: over Spark's connector where its jars are, over ``confluent-kafka`` where they are not."""
