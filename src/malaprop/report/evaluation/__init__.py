"""An evaluation for people: on the terminal, as Markdown, as a web page, as a picture."""
