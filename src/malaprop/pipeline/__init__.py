"""From text to private text: the privatizer, the release, and files."""
