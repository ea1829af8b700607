"""The demo: readings of smart plugs through windows, and what comes out, as a picture."""
