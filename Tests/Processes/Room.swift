// Replaced by the first file of its room.
