PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE IF NOT EXISTS "migrations" ("name" varchar(255) not null primary key, "timestamp" varchar(255) not null);
INSERT INTO migrations VALUES('0001-audit','2026-11-22T19:39:50.351Z');
CREATE TABLE IF NOT EXISTS "migrations_lock" ("id" varchar(255) not null primary key, "is_locked" integer default 0 not null);
INSERT INTO migrations_lock VALUES('migration_lock',0);
CREATE TABLE streams (
      stream_id TEXT PRIMARY KEY,
      entry_count INTEGER NOT NULL,
      head_sequence INTEGER NOT NULL,
      head_hash TEXT,
      created_at TEXT NOT NULL,
      last_entry_at TEXT,
      verified INTEGER NOT NULL DEFAULT 0,
      verification_status TEXT NOT NULL DEFAULT 'unverified'
        CHECK (verification_status IN ('unverified', 'verified', 'failed')),
      last_checked_at TEXT,
      verified_through_sequence INTEGER
    ) STRICT;
INSERT INTO streams VALUES('payments',4,4,'f9971a9b5e78719518b760304e9e3f09766779d05aa132c52d29424e339dc98d','2026-11-22T19:39:52.457Z','2026-11-22T19:39:52.550Z',1,'verified','2026-11-22T19:39:52.702Z',4);
INSERT INTO streams VALUES('prod/übung',3,3,'e50a6edf66c790f07400a63608690688a6a88b21e66291516279f67df9357cac','2026-11-22T19:39:52.507Z','2026-11-22T19:39:52.534Z',0,'unverified',NULL,NULL);
INSERT INTO streams VALUES('logins',1,1,'3951a0c368c7fc95d88c91d049328552c3099c42d82dab5b3ae3d2558ff2ee62','2026-11-22T19:39:52.550Z','2026-11-22T19:39:52.550Z',0,'unverified',NULL,NULL);
CREATE TABLE entries (
      entry_id TEXT NOT NULL,
      stream_id TEXT NOT NULL REFERENCES streams,
      sequence INTEGER NOT NULL CHECK (sequence BETWEEN 1 AND 9007199254740991),
      timestamp TEXT NOT NULL,
      occurred_at TEXT,
      actor TEXT NOT NULL,
      action TEXT NOT NULL,
      resource_type TEXT NOT NULL,
      resource_id TEXT NOT NULL,
      metadata TEXT NOT NULL CHECK (json_valid(metadata) AND json_type(metadata) = 'object'),
      prev_hash TEXT NOT NULL CHECK (length(prev_hash) = 64 AND prev_hash NOT GLOB '*[^0-9a-f]*'),
      seal_key_id TEXT NOT NULL,
      hash TEXT NOT NULL CHECK (length(hash) = 64 AND hash NOT GLOB '*[^0-9a-f]*'),
      seal TEXT NOT NULL CHECK (length(seal) = 64 AND seal NOT GLOB '*[^0-9a-f]*'),
      UNIQUE (stream_id, sequence)
    ) STRICT;
INSERT INTO entries VALUES('6fd1a894-22e6-4643-8ee8-fbcaba0001dd','payments',1,'2026-11-22T19:39:52.457Z',NULL,'a.larsen','approve','payment','p/1','{"n":1.5,"ü":[1]}','0000000000000000000000000000000000000000000000000000000000000000','e1-df384ae97c77ad30','2130559f5d0a3e8b0917692edb95cddc75e52bf57b8a992941a406be23e117f4','a6d663a7988bd40cdcf45c10a5f381089138ad3165dd31fb0a9a4777d22346c7');
INSERT INTO entries VALUES('84eef038-131e-494d-aa13-7ff1b2956864','payments',2,'2026-11-22T19:39:52.478Z',NULL,'a.larsen','approve','payment','p/2','{"n":2.5,"ü":[1]}','2130559f5d0a3e8b0917692edb95cddc75e52bf57b8a992941a406be23e117f4','e1-df384ae97c77ad30','18e52b4ee80dd330239cf2e54705b07303752623189984232fd55f6dffa404ba','1efa6804747a7df90a64cea05267d9c77e85da9ef1db0cf338fb6e203cf6ddb2');
INSERT INTO entries VALUES('93d72590-d6e8-4741-8ff0-27cb90c1fb95','payments',3,'2026-11-22T19:39:52.494Z',NULL,'a.larsen','approve','payment','p/3','{"n":3.5,"ü":[1]}','18e52b4ee80dd330239cf2e54705b07303752623189984232fd55f6dffa404ba','e1-df384ae97c77ad30','27371c3438bfc76c1923492e7f26242fda2c914e27359868ea8cf5239e00162c','ea5dcbf3440f0cd326caa5ca4ea6b8bab491b75e0521f54bf1464dcd40ba58c6');
INSERT INTO entries VALUES('f7e178b1-5967-4963-9655-c778676368a4','prod/übung',1,'2026-11-22T19:39:52.507Z',NULL,'a.larsen','approve','payment','p/1','{"n":1.5,"ü":[1]}','0000000000000000000000000000000000000000000000000000000000000000','e1-c6ad3938c9b16966','eb06a2b093c475cb89efb918b49df42934546c8036233d6d74f818ed48ab660f','20efd7e8765517d02ef15292b57044f4c2da23e48e81e3469936960ba688f71a');
INSERT INTO entries VALUES('82e2b3e4-882e-444a-879b-13667a9de752','prod/übung',2,'2026-11-22T19:39:52.520Z',NULL,'a.larsen','approve','payment','p/2','{"n":2.5,"ü":[1]}','eb06a2b093c475cb89efb918b49df42934546c8036233d6d74f818ed48ab660f','e1-c6ad3938c9b16966','6f6588c923fb749daf2030a94ee888f50bd42c74809e970b1d9f8decce828c8a','fc7e7314c6fe90e99c839a7c0e0003ca54acacb1e2cba560d7bc833c1ec071b2');
INSERT INTO entries VALUES('79781f4f-d9c4-4a72-88f2-2c4eae26d87e','prod/übung',3,'2026-11-22T19:39:52.534Z',NULL,'a.larsen','approve','payment','p/3','{"n":3.5,"ü":[1]}','6f6588c923fb749daf2030a94ee888f50bd42c74809e970b1d9f8decce828c8a','e1-c6ad3938c9b16966','e50a6edf66c790f07400a63608690688a6a88b21e66291516279f67df9357cac','90909892eadb13a1b7810f1d9ca77619cc95782644b485fdb5f69cc61b4a1604');
INSERT INTO entries VALUES('1254975e-2628-4d2a-bfe9-a9ea142e81fe','payments',4,'2026-11-22T19:39:52.550Z',NULL,'b','x','t','r','{}','27371c3438bfc76c1923492e7f26242fda2c914e27359868ea8cf5239e00162c','e1-df384ae97c77ad30','f9971a9b5e78719518b760304e9e3f09766779d05aa132c52d29424e339dc98d','da955f661df5705c412b93fd60c3fd0beb8d6a49e449a09d083840c34de6c024');
INSERT INTO entries VALUES('2e816bf2-904c-465a-adfa-78e58d4cb6d1','logins',1,'2026-11-22T19:39:52.550Z','2026-10-01T00:00:00Z','b','x','t','r','{}','0000000000000000000000000000000000000000000000000000000000000000','e1-4b2e43ecdce1491a','3951a0c368c7fc95d88c91d049328552c3099c42d82dab5b3ae3d2558ff2ee62','01afef222cdcf7b5668bd3b752f550d5868cc590a38593b3cb813a4fe8c1ddae');
CREATE TABLE idempotency (
      scope TEXT NOT NULL,
      key TEXT NOT NULL,
      body_sha256 TEXT NOT NULL,
      result TEXT NOT NULL,
      created_at TEXT NOT NULL,
      PRIMARY KEY (scope, key)
    ) STRICT, WITHOUT ROWID;
INSERT INTO idempotency VALUES('entries','batch-1','27a309f12c19f290830d3d757c5348e6cf65a73abdc6b29b87142c930bb1d93e','','2026-11-22T19:39:52.550Z');
INSERT INTO idempotency VALUES('entry/payments','key-payments-1','70a9fb916669032bed8574a9e4f0fd1ef06202cea0d694ee2545f1de8163bc81','1','2026-11-22T19:39:52.457Z');
INSERT INTO idempotency VALUES('entry/payments','key-payments-2','87bbec1f7ff0752e41c23385bd7818cd72ae9e46fba74ccd2085117c185b0a3d','2','2026-11-22T19:39:52.478Z');
INSERT INTO idempotency VALUES('entry/payments','key-payments-3','10368108aa00cb8a8edec8b824607fd9a85718f19c1d46ac2ac1ccaba0536987','3','2026-11-22T19:39:52.494Z');
INSERT INTO idempotency VALUES('entry/prod/übung','key-prod/übung-1','125dc5dd79f808e2914136bea9d75a9fdd0140743abc00d98e957cb6cf3b3303','1','2026-11-22T19:39:52.507Z');
INSERT INTO idempotency VALUES('entry/prod/übung','key-prod/übung-2','63d4e73b0535e7cacacb2fbe38a5efa449aeb944fdb136f376edded14a3bccef','2','2026-11-22T19:39:52.520Z');
INSERT INTO idempotency VALUES('entry/prod/übung','key-prod/übung-3','a67d57ccd498b5cc03ffdcf857d8414afd1c12f77abade360faa2f3de5ca48a0','3','2026-11-22T19:39:52.534Z');
INSERT INTO idempotency VALUES('evidence','gen-1','224ed7e1d4a6cbe454605c852fea8166dbc9dce758fa5b823e7c8131fdbddaf2','f68eccc7-232f-4567-a072-d669159b9fa3','2026-11-22T19:39:52.722Z');
INSERT INTO idempotency VALUES('request/logins','batch-1#1','7ae6c3e432b2edb31756969164ee0c8260b4c70daff8a35f8fe748af647044d3','1','2026-11-22T19:39:52.550Z');
INSERT INTO idempotency VALUES('request/payments','batch-1#0','99374fb9c1c054855e5c596d6602fbddc75b5321cd829770ffece36c8c2a3342','4','2026-11-22T19:39:52.550Z');
CREATE TABLE checkpoints (
      ordinal INTEGER PRIMARY KEY AUTOINCREMENT,
      checkpoint_id TEXT NOT NULL UNIQUE,
      stream_id TEXT NOT NULL REFERENCES streams,
      sequence INTEGER NOT NULL,
      hash TEXT NOT NULL,
      created_at TEXT NOT NULL,
      status TEXT NOT NULL CHECK (status IN ('anchored', 'pending')),
      authority TEXT NOT NULL CHECK (authority IN ('external', 'development')),
      tsa_url TEXT NOT NULL,
      gen_time TEXT,
      token BLOB
    ) STRICT;
INSERT INTO checkpoints VALUES(1,'c7be8f1b-0927-4720-b7fa-8ca0bb8e1e2f','payments',4,'f9971a9b5e78719518b760304e9e3f09766779d05aa132c52d29424e339dc98d','2026-11-22T19:39:52.570Z','anchored','development','urn:evidence-platform:development-authority','2026-11-22T19:39:52.572Z',X'3082046330030201003082045a06092a864886f70d010702a082044b30820447020103310f300d06096086480165030402010500308180060b2a864886f70d0109100104a071046f306d02010106092b06010401868d1f013031300d060960864801650304020105000420f9971a9b5e78719518b760304e9e3f09766779d05aa132c52d29424e339dc98d0210284a6f5a04f416eb8e388e46e93aad74181332303236313132323139333935322e3537325a3003020101a082023e3082023a308201e0a0030201020211008eb298b00f54fed96c9d4ca34ecbc631300a06082a8648ce3d040302305f311a3018060355040a131145766964656e636520506c6174666f726d3141303f06035504031338446576656c6f706d656e742054696d652d5374616d70696e6720526f6f7420286e6f7420616e2065787465726e616c207769746e65737329301e170d3236313132323139333935305a170d3336313132323139333935305a3064311a3018060355040a131145766964656e636520506c6174666f726d314630440603550403133d446576656c6f706d656e742054696d652d5374616d70696e6720417574686f7269747920286e6f7420616e2065787465726e616c207769746e657373293059301306072a8648ce3d020106082a8648ce3d030107034200044ca198892e0e4d9c2efa055da927463679a2c013e5c1437f1b947cfaf1cb3004e99a6a23f3f6ca1eb025e5e458ef5d19e9bbb93dd81edc881af04dfb5ef993d8a3783076300c0603551d130101ff04023000300e0603551d0f0101ff04040302078030160603551d250101ff040c300a06082b06010505070308301d0603551d0e0416041431bb46d42b703593623714c693e19c3a27ee322b301f0603551d23041830168014fc69119ca6694f3f98797f077faba9991ab8a4e5300a06082a8648ce3d040302034800304502205f93c5d3ed2f2a4540539eb4227294871c625599b75bc61f737a8d7fb190eedf022100f15d83d234d3309356e85a5fe98239ed07f5c85f8f4042eaa61af692f4a35ac73182016a308201660201013074305f311a3018060355040a131145766964656e636520506c6174666f726d3141303f06035504031338446576656c6f706d656e742054696d652d5374616d70696e6720526f6f7420286e6f7420616e2065787465726e616c207769746e657373290211008eb298b00f54fed96c9d4ca34ecbc631300d06096086480165030402010500a08186301a06092a864886f70d010903310d060b2a864886f70d0109100104302f06092a864886f70d0109043122042045d7feb47a3fc607636bcce583bb10c69a8f6b49b38770efc1995ea8c80d75583037060b2a864886f70d010910022f312830263024302204203bb390e50381409c6baf56ccb9febfa942b950b3c7d3238dd850691a8f4c1c14300a06082a8648ce3d04030204473045022100cbba450b9c891c4a98ae988862ec679c7e6eb0664d91a9cca67da73fcae730be022072985a29a0fae99ead38686a832ac4db389a0c1685a4fc5bbfe3dfcd032cddf3');
CREATE TABLE packages (
      package_id TEXT PRIMARY KEY,
      stream_id TEXT NOT NULL REFERENCES streams,
      title TEXT NOT NULL,
      created_at TEXT NOT NULL,
      entry_count INTEGER NOT NULL,
      first_sequence INTEGER,
      last_sequence INTEGER,
      head TEXT NOT NULL,
      summary TEXT NOT NULL,
      pdf BLOB
    ) STRICT;
INSERT INTO packages VALUES('f68eccc7-232f-4567-a072-d669159b9fa3','payments','Audit evidence of payments','2026-11-22T19:39:52.722Z',4,1,4,'{"format":"evidence-package/1","package_id":"f68eccc7-232f-4567-a072-d669159b9fa3","stream":{"stream_id":"payments","entry_count":4,"head_sequence":4,"head_hash":"f9971a9b5e78719518b760304e9e3f09766779d05aa132c52d29424e339dc98d","created_at":"2026-11-22T19:39:52.457Z","last_entry_at":"2026-11-22T19:39:52.550Z","verified":true,"verification_status":"verified","last_checked_at":"2026-11-22T19:39:52.702Z","verified_through_sequence":4},"period":null,"generated_at":"2026-11-22T19:39:52.722Z","entry_count":4,"first_sequence":1,"last_sequence":4,"head_hash":"f9971a9b5e78719518b760304e9e3f09766779d05aa132c52d29424e339dc98d","checkpoints":[{"checkpoint_id":"c7be8f1b-0927-4720-b7fa-8ca0bb8e1e2f","stream_id":"payments","sequence":4,"hash":"f9971a9b5e78719518b760304e9e3f09766779d05aa132c52d29424e339dc98d","created_at":"2026-11-22T19:39:52.570Z","anchor":{"status":"anchored","authority":"development","tsa_url":"urn:evidence-platform:development-authority","gen_time":"2026-11-22T19:39:52.572Z","token":"MIIEYzADAgEAMIIEWgYJKoZIhvcNAQcCoIIESzCCBEcCAQMxDzANBglghkgBZQMEAgEFADCBgAYLKoZIhvcNAQkQAQSgcQRvMG0CAQEGCSsGAQQBho0fATAxMA0GCWCGSAFlAwQCAQUABCD5lxqbXnhxlRi3YDBOnj8Jdmd50FqhMsUtKUJOM53JjQIQKEpvWgT0FuuOOI5G6TqtdBgTMjAyNjExMjIxOTM5NTIuNTcyWjADAgEBoIICPjCCAjowggHgoAMCAQICEQCOspiwD1T+2WydTKNOy8YxMAoGCCqGSM49BAMCMF8xGjAYBgNVBAoTEUV2aWRlbmNlIFBsYXRmb3JtMUEwPwYDVQQDEzhEZXZlbG9wbWVudCBUaW1lLVN0YW1waW5nIFJvb3QgKG5vdCBhbiBleHRlcm5hbCB3aXRuZXNzKTAeFw0yNjExMjIxOTM5NTBaFw0zNjExMjIxOTM5NTBaMGQxGjAYBgNVBAoTEUV2aWRlbmNlIFBsYXRmb3JtMUYwRAYDVQQDEz1EZXZlbG9wbWVudCBUaW1lLVN0YW1waW5nIEF1dGhvcml0eSAobm90IGFuIGV4dGVybmFsIHdpdG5lc3MpMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAETKGYiS4OTZwu+gVdqSdGNnmiwBPlwUN/G5R8+vHLMATpmmoj8/bKHrAl5eRY710Z6bu5Pdge3Iga8E37XvmT2KN4MHYwDAYDVR0TAQH/BAIwADAOBgNVHQ8BAf8EBAMCB4AwFgYDVR0lAQH/BAwwCgYIKwYBBQUHAwgwHQYDVR0OBBYEFDG7RtQrcDWTYjcUxpPhnDon7jIrMB8GA1UdIwQYMBaAFPxpEZymaU8/mHl/B3+rqZkauKTlMAoGCCqGSM49BAMCA0gAMEUCIF+TxdPtLypFQFOetCJylIccYlWZt1vGH3N6jX+xkO7fAiEA8V2D0jTTMJNW6Fpf6YI57Qf1yF+PQELqphr2kvSjWscxggFqMIIBZgIBATB0MF8xGjAYBgNVBAoTEUV2aWRlbmNlIFBsYXRmb3JtMUEwPwYDVQQDEzhEZXZlbG9wbWVudCBUaW1lLVN0YW1waW5nIFJvb3QgKG5vdCBhbiBleHRlcm5hbCB3aXRuZXNzKQIRAI6ymLAPVP7ZbJ1Mo07LxjEwDQYJYIZIAWUDBAIBBQCggYYwGgYJKoZIhvcNAQkDMQ0GCyqGSIb3DQEJEAEEMC8GCSqGSIb3DQEJBDEiBCBF1/60ej/GB2NrzOWDuxDGmo9rSbOHcO/BmV6oyA11WDA3BgsqhkiG9w0BCRACLzEoMCYwJDAiBCA7s5DlA4FAnGuvVsy5/r+pQrlQs8fTI43YUGkaj0wcFDAKBggqhkjOPQQDAgRHMEUCIQDLukULnIkcSpiumIhi7Gecfm6wZk2Rqcymfac/yucwvgIgcphaKaD66Z6tOGhqgyrE2ziaDBaFpPxbv+PfzQMs3fM="}}]}','{"package_id":"f68eccc7-232f-4567-a072-d669159b9fa3","stream_id":"payments","period":null,"entry_count":4,"first_sequence":1,"last_sequence":4,"head_hash":"f9971a9b5e78719518b760304e9e3f09766779d05aa132c52d29424e339dc98d","first_timestamp":"2026-11-22T19:39:52.457Z","last_timestamp":"2026-11-22T19:39:52.550Z","counts":{"actors":{"a.larsen":3,"b":1},"actions":{"approve":3,"x":1},"resource_types":{"payment":3,"t":1}},"verification":{"verified":true,"last_checked_at":"2026-11-22T19:39:52.702Z"},"limitations":["The package shows what was recorded. It does not prove that everything that happened was recorded, or that what was recorded is true.","Seals can be checked only with the seal key. Whoever holds that key, this service included, could have written the whole stream anew; only anchors by an independent authority and earlier exports would tell.","This service checks a stream only when Verify is run, and does not check it again by itself. The last check, at 2026-11-22T19:39:52.702Z, reached entry 4.","Time stamps marked \"development\" come from an authority built into this service. It is not an external witness, and they prove nothing against the service itself.","No entry of this package is anchored by an external time-stamping authority."]}',NULL);
CREATE TABLE api_keys (
      key_id TEXT PRIMARY KEY,
      sha256 TEXT NOT NULL,
      name TEXT NOT NULL,
      created_at TEXT NOT NULL,
      revoked_at TEXT
    ) STRICT;
INSERT INTO api_keys VALUES('mviGkAvW','3212ed49d53a2f9a347cdf7deb1612a890ad06fc1362a98ff856fc8ad882cc6b','first key','2026-11-22T19:39:50.357Z',NULL);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('checkpoints',1);
CREATE INDEX entries_by_time ON entries (stream_id, timestamp, sequence);
CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries
      BEGIN SELECT RAISE(ABORT, 'audit entries are never changed'); END;
CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries
      BEGIN SELECT RAISE(ABORT, 'audit entries are never deleted'); END;
CREATE INDEX checkpoints_by_stream ON checkpoints (stream_id, ordinal);
CREATE INDEX checkpoints_pending ON checkpoints (authority, ordinal) WHERE status = 'pending';
COMMIT;
