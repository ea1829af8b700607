"""The report: one document, written as Markdown and as a page of HTML."""
