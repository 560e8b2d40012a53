"""What each command does; imported when it runs."""
