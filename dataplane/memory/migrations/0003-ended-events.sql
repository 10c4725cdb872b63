-- An event that has ended holds no text of the client: the memories have what its metadata and categories said.
update events set messages = null, metadata = '{}', categories = '{}'
where status in ('SUCCEEDED', 'FAILED') and (messages is not null or metadata <> '{}' or categories <> '{}');
