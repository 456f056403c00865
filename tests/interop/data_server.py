"""TensorBoard's data server, the reader that its pages use unless told otherwise: a process of its own."""
from tensorboard.data import server_ingester
from tensorboard.util import grpc_util


def data_server(folder, samples, *flags):
    """What reads `folder`, with so many points a plugin, 0 for all. It is given up after ten seconds: a busy machine may be slower."""
    for attempts_left in (2, 1, 0):
        ingester = server_ingester.SubprocessServerDataIngester(
            server_ingester.get_server_binary(), str(folder), reload_interval=0, channel_creds_type=grpc_util.ChannelCredsType.LOCAL,
            samples_per_plugin=samples, extra_flags=list(flags))
        try:
            ingester.start()
            return ingester
        except server_ingester.DataServerStartupError:
            if attempts_left == 0:
                raise
