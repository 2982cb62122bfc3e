"""Runs commands for another guest, as a login would: `agent.py serve` there, `agent.py HOST COMMAND` here. The command's input and output are the
connection. Only for guests that nobody else reaches: it asks nobody for a proof."""
import os
import socket
import subprocess
import sys
import threading
import time

PORT = 7700


def serve():
    listener = socket.create_server(("", PORT), backlog=16)
    while True:
        connection, _ = listener.accept()
        command = b""
        while not command.endswith(b"\0"):
            command += connection.recv(1)
        # It gets the connection itself.
        subprocess.Popen(["sh", "-c", command[:-1].decode()], stdin=connection, stdout=connection, stderr=connection)
        connection.close()


def run(host, command):
    for _ in range(300):
        try:
            connection = socket.create_connection((host, PORT))
            break
        except OSError:
            time.sleep(0.1)
    else:
        sys.exit(f"{host} does not answer")
    connection.sendall(command.encode() + b"\0")

    def forward():
        while data := os.read(0, 65536):
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)

    threading.Thread(target=forward, daemon=True).start()
    while data := connection.recv(65536):
        os.write(1, data)


serve() if sys.argv[1] == "serve" else run(sys.argv[1], " ".join(sys.argv[2:]))
