"""What has been learnt: exact measures where the world is known, sampled ones everywhere, statistics over seeds."""
