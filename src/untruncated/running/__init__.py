"""How a run is computed: programs set up, advanced in chunks, saved."""
