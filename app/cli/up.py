"""`preread up`: everything on one machine."""

from app.cli.console import out, say
from app.core.settings import get_settings

_MARGIN_SECONDS = 10.0


def up() -> None:
    """Start Preread here and keep it running until Ctrl-C."""
    from app.cli.model_folder import prepared_folder
    from app.cli.stack import embedded_stages, preread_command, require_room
    from app.cli.state_lock import hold_state
    from app.cli.supervisor import GRACE_SECONDS, Supervisor
    from workers.read_only import require_writing

    settings = get_settings()
    require_writing(settings)
    with hold_state(settings.state_dir):
        model = prepared_folder(settings, preread_command("engine", "--prepare-only"), say)
        if warning := require_room(settings, model):
            say(warning)
        say(f"starting; logs are in {settings.log_dir}")
        grace = max(GRACE_SECONDS, settings.drain_seconds + _MARGIN_SECONDS)
        with Supervisor(
            embedded_stages(settings), log_dir=settings.log_dir, say=say, grace_seconds=grace
        ) as supervisor:
            supervisor.stop_on_signals()
            supervisor.start()
            if not supervisor.stopping:
                out.print(f"\nPreread is running: [bold]{settings.effective_web_url}[/bold]  (Ctrl-C stops it)\n")
            supervisor.watch()
            say("stopping")
    say("stopped")
