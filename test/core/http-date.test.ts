import { expect, it } from 'vitest';
import { readHttpDate } from '../../src/core/http-date.ts';

it.each([
  [null, null],
  ['', null],
  ['yesterday', null],
  ['Fri, 01 Jan 12026 00:00:00 GMT', null],
  ['0000-12-31T23:59:59Z', null],
  ['Fri, 31 Dec 9999 23:59:59 GMT', Date.parse('9999-12-31T23:59:59Z')],
  ['Tue, 24 Nov 2026 00:00:00 GMT', Date.parse('2026-11-24T00:00:00Z')],
])('the Date header %j', (header, time) => expect(readHttpDate(header)).toBe(time));
