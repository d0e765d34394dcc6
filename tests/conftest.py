from hypothesis import settings

# The machine that runs the tests may be busy: how long an example took says nothing.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
