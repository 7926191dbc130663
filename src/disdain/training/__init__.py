"""How data meets agent: the four parts (collect, push, update, evaluate), runners that place them, and runs on disk."""
