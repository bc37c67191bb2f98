"""The site as files: styles and scripts, addresses, what a page may run, when it is made anew."""
