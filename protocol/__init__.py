"""The mathematics: no network, no file, no clock and no thread of its own."""
