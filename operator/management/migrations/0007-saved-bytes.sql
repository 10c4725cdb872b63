-- What a save adds to the bytes of the installation; null for other commands and in rows of earlier versions.
alter table operations add column saved_bytes bigint;
