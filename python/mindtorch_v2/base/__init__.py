"""What every room of the package may use: torch's enums, warnings, and who this process is in a distributed job. Not for users."""
