/**
 * Returns the SQL for the tables of distributed runs, in the schema of pg-boss. pg-boss assigns jobs, and reassigns
 * those of dead workers; these tables record the results.
 *
 * @param schema a plain name, which needs no quotes.
 */
// Over 40 lines: it is one SQL script.
export function tablesOf(schema: string): string {
  return `
CREATE SCHEMA IF NOT EXISTS ${schema};

CREATE TABLE IF NOT EXISTS ${schema}.runs (
  run_id text PRIMARY KEY,
  -- Of the attempt. It names the attempt: a job of an earlier one does nothing.
  started_at timestamptz NOT NULL,
  -- JSON; how the run was asked for, besides what its asked.json says.
  options text NOT NULL,
  streams integer NOT NULL,
  excluded integer NOT NULL,
  -- Streams that have not ended.
  open integer NOT NULL,
  state text NOT NULL CHECK (state IN ('exporting', 'concluding', 'ended')),
  worker text,
  ended_at timestamptz,
  -- JSON; what the run came to.
  result text,
  -- JSON; why it could not be concluded.
  failure text
);

CREATE TABLE IF NOT EXISTS ${schema}.streams (
  run_id text NOT NULL REFERENCES ${schema}.runs ON DELETE CASCADE,
  -- The name of the stream in the run.
  slug text NOT NULL,
  -- JSON; the stream as the service lists it.
  listed text NOT NULL,
  -- An earlier attempt left something of it in the archive.
  is_left boolean NOT NULL,
  -- Who holds the stream, or held it last.
  worker text,
  taken_at timestamptz,
  tries integer NOT NULL DEFAULT 0,
  -- JSON; why the last try failed.
  failure text,
  -- Null until the stream has ended.
  kind text CHECK (kind IN ('recorded', 'incomplete', 'failed')),
  -- JSON; how it ended.
  outcome text,
  ended_at timestamptz,
  PRIMARY KEY (run_id, slug)
);
CREATE INDEX IF NOT EXISTS streams_ended ON ${schema}.streams (run_id, ended_at);

CREATE TABLE IF NOT EXISTS ${schema}.workers (
  name text PRIMARY KEY,
  started_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL
);

CREATE TABLE IF NOT EXISTS ${schema}.rates (
  origin text PRIMARY KEY,
  granted_at timestamptz NOT NULL,
  paused_until timestamptz NOT NULL
);

-- Lets one request to a service go, at least \`spacing\` seconds after the one before, whichever process sent that; or
-- returns the seconds after which to ask again. Who asks waits for the row in turn, and sleeps here with the row locked,
-- so the clock of the server alone counts, and who dies meanwhile leaves its turn to the next one.
CREATE OR REPLACE FUNCTION ${schema}.admit(of_origin text, spacing double precision) RETURNS double precision
LANGUAGE plpgsql AS $$
DECLARE
  granted timestamptz;
  paused timestamptz;
  seconds double precision;
BEGIN
  PERFORM set_config('lock_timeout', '30s', true);
  SELECT granted_at, paused_until INTO granted, paused FROM ${schema}.rates WHERE origin = of_origin FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO ${schema}.rates VALUES (of_origin, '-infinity', '-infinity') ON CONFLICT DO NOTHING;
    RETURN 0.001;
  END IF;
  seconds := extract(epoch FROM greatest(paused, granted + spacing * interval '1 second') - clock_timestamp());
  IF seconds > 5 OR paused > clock_timestamp() THEN
    RETURN seconds;
  END IF;
  IF seconds > 0 THEN
    PERFORM pg_sleep(seconds);
  END IF;
  UPDATE ${schema}.rates SET granted_at = clock_timestamp() WHERE origin = of_origin;
  RETURN 0;
END $$;
`;
}
