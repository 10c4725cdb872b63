-- Who sent a command, and what it changes: for the audit log and for recovery. Null in rows of earlier versions.
alter table operations add column origin text;
