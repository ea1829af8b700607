"""RocksDB's options: memory that is bounded, whatever is written, deleted and read."""

from __future__ import annotations

from typing import Any

WRITE_BUFFER = 16 << 20
CACHE = 8 << 20
"""Most reads are of what was written long ago, once, and in order: a cache helps little."""
LOG_OF_WRITES = 48 << 20
OPEN_FILES = 256


def tuned(rocksdict: Any, open_files: int) -> Any:
    """open_files: how many at most, each with a little memory of its own; -1: all."""
    options = rocksdict.Options(raw_mode=True)
    options.create_if_missing(True)
    options.set_write_buffer_size(WRITE_BUFFER)
    options.set_max_write_buffer_number(2)
    options.set_max_total_wal_size(LOG_OF_WRITES)
    options.set_max_open_files(open_files)
    table = rocksdict.BlockBasedOptions()
    table.set_block_cache(rocksdict.Cache(CACHE))
    table.set_cache_index_and_filter_blocks(True)
    options.set_block_based_table_factory(table)
    # A window deletes all that it puts: files of mostly deleted keys go early, and are small.
    options.add_compact_on_deletion_collector_factory(128, 64, 0.5)
    options.set_target_file_size_base(WRITE_BUFFER)
    # RocksDB's own log, of what it does, is for looking into troubles.
    options.set_keep_log_file_num(2)
    options.set_max_log_file_size(1 << 20)
    return options


def library() -> Any:
    try:
        import rocksdict
    except ImportError:
        raise ImportError(
            "RocksDB needs the package rocksdict: pip install 'sash[stores]'."
        ) from None
    return rocksdict
