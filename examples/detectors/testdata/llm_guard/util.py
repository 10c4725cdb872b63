def configure_logger(log_level: str) -> None:
    assert log_level == "CRITICAL"
