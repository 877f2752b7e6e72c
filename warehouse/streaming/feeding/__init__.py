"""What has arrived at sources, clocks and timers made into steps: by REFRESH and DRAIN, or in threads that run on."""
