import type { FastifyDynamicSwaggerOptions, SwaggerTransformObject } from '@fastify/swagger';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  checkpointSchema,
  entrySchema,
  generatedSchema,
  problemSchema,
  statsSchema,
  streamSchema,
  summarySchema,
  wireVerificationSchema,
} from '../../core/wire.ts';

/** OpenAPI 3.1 made from the schemas that validate. Its paths are relative to `prefix`, the address of its server. */
export function openApiOptions(prefix: string): FastifyDynamicSwaggerOptions {
  const schemaRegistry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(NAMED)) schemaRegistry.add(schema, { id });
  const withComponents = createJsonSchemaTransformObject({ schemaRegistry });
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Audit evidence chain',
        version: '1',
        description:
          'Records a hash chain of audit entries, each sealed with an HMAC, anchors checkpoints at an RFC 3161 time-stamping authority and exports evidence packages. A stream is shown as verified only after Verify was run on it; nothing is checked again by itself.',
      },
      servers: [{ url: prefix }],
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
      security: [{ key: [] }],
    },
    transform: createJsonSchemaTransform({ schemaRegistry }),
    transformObject: (document) => withoutInputs(withComponents(document)),
  };
}

const NAMED = {
  Entry: entrySchema,
  JsonValue: entrySchema.shape.metadata.valueType,
  Stream: streamSchema,
  Verification: wireVerificationSchema,
  Checkpoint: checkpointSchema,
  EvidencePackage: generatedSchema,
  EvidenceSummary: summarySchema,
  Statistics: statsSchema,
  Problem: problemSchema,
};

/** The provider adds a twin of every named schema for requests; these schemas only describe answers. */
function withoutInputs(document: ReturnType<SwaggerTransformObject>): ReturnType<SwaggerTransformObject> {
  const schemas: object = ('components' in document && document.components?.schemas) || {};
  for (const id of Object.keys(schemas)) if (id.endsWith('Input')) Reflect.deleteProperty(schemas, id);
  return document;
}
