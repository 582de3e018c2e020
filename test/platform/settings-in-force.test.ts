import { expect, test } from 'vitest';
import { settingsInForce } from '../../src/platform/settings-in-force.ts';

test('settings are shown by their names, and nothing that is secret', () => {
  const shown = settingsInForce({
    dataDir: '/data',
    port: 8181,
    publicUrl: 'https://evidence.example',
    trustedProxies: ['127.0.0.1'],
    postgresUrl: 'postgres://user:hidden1@db.example:5433/audit?password=hidden2',
    tsaUrl: 'https://name:hidden3@tsa.example/tsr?key=hidden4',
    mail: { smtp: { url: 'smtps://sender@mail.example', from: 'evidence@example.com', password: 'hidden5' } },
  });
  expect(JSON.stringify(shown)).not.toMatch(/hidden|user|name:|sender/);
  expect(Object.fromEntries(shown)).toMatchObject({
    data: '/data',
    postgres_url: 'postgres://db.example:5433/audit',
    tsa_url: 'https://tsa.example/tsr',
    'smtp, mail_folder': 'smtps://mail.example',
    trusted_proxies: '127.0.0.1',
    sign_up: 'closed',
  });
});
