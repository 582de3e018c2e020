import type { FastifyInstance } from 'fastify';
import type { Collect } from '../../core/exposition.ts';
import { Histogram } from '../metrics/histogram.ts';

const BOUNDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Measures every request by the pattern of its route: a path that somebody made up is one of no route. */
export function measureRequests(server: FastifyInstance): Collect {
  const durations = new Histogram(
    'http_request_duration_seconds',
    'From the first byte of a request to the end of its answer.',
    BOUNDS,
  );
  server.addHook('onResponse', ({ routeOptions: { url }, method }, { statusCode, elapsedTime }, done) => {
    const labels = url === undefined ? { method: 'any', route: 'none' } : { method, route: url };
    durations.observe(elapsedTime / 1000, { ...labels, status: `${statusCode}` });
    done();
  });
  return () => [durations.family()];
}
