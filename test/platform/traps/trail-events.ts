import { randomUUID } from 'node:crypto';

/** An event in the shape that the CloudTrail user guide documents. */
export function trailEvent(accessKeyId: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    eventVersion: '1.10',
    userIdentity: {
      type: 'IAMUser',
      principalId: 'AIDAEXAMPLEEXAMPLEEXA',
      arn: 'arn:aws:iam::111122223333:user/backup-prod',
      accountId: '111122223333',
      accessKeyId,
      userName: 'backup-prod',
    },
    eventTime: '2026-11-20T10:00:00Z',
    eventSource: 's3.amazonaws.com',
    eventName: 'ListBuckets',
    awsRegion: 'eu-central-1',
    sourceIPAddress: '198.51.100.7',
    userAgent: '[aws-cli/2.17.0 md/awscrt#0.20.11]',
    errorCode: 'AccessDenied',
    errorMessage: 'Access Denied',
    requestParameters: { Host: 's3.eu-central-1.amazonaws.com' },
    responseElements: null,
    eventID: randomUUID(),
    readOnly: true,
    eventType: 'AwsApiCall',
    managementEvent: true,
    recipientAccountId: '111122223333',
    eventCategory: 'Management',
    ...more,
  };
}

/** Returns a log file with many events of other keys, and these among them. */
export function logFile(count: number, ...events: readonly Record<string, unknown>[]): string {
  const others = Array.from({ length: count }, (_, n) =>
    trailEvent(`ASIAOTHERSESSION${String(n % 90).padStart(4, '0')}`),
  );
  others.splice(Math.floor(count / 2), 0, ...events);
  return JSON.stringify({ Records: others });
}
