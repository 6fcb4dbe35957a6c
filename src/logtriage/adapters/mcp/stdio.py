"""Serve over stdin and stdout: the client starts the process, and has the only seat."""

import os
import signal

import anyio
from mcp.server.stdio import stdio_server

from logtriage.adapters.mcp.tools import SeatOf, Seats, tool_server
from logtriage.parsing.tools import Tool


def serve_stdio(tools: tuple[Tool, ...], seat_of: SeatOf) -> None:
    """Serve one client until it closes stdin, or a signal comes."""
    anyio.run(_serve, tools, seat_of)


async def _serve(tools: tuple[Tool, ...], seat_of: SeatOf) -> None:
    """Serve the only seat; its session leaves it at the end of stdin."""
    seat = seat_of()  # made here and not by the session, so that a signal can leave it, too
    server = tool_server(tools, Seats(lambda: seat))

    async def leave_at_signal() -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for _ in signals:  # the first one ends the process
                seat.leave()
                # A thread is reading stdin, and nothing but its end can wake it.
                os._exit(0)

    async with anyio.create_task_group() as tasks:
        if os.name != "nt":  # Windows has no signals to wait for
            tasks.start_soon(leave_at_signal)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()  # waits for no signal any more
