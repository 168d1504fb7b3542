"""The HTTP service: `gonie serve`.

One process speaks HTTP and queues requests (``http_server``, ``service``, ``dispatcher``). Worker processes
hold the models and answer batches of requests (``worker``). So a slow answer delays no connection, and a
worker that dies costs no request.
"""
