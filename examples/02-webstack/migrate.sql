-- Safe to run any number of times.
CREATE TABLE IF NOT EXISTS greeting (id integer PRIMARY KEY, words text NOT NULL);
INSERT INTO greeting VALUES (1, 'hello from PostgreSQL') ON CONFLICT (id) DO NOTHING;
