import swagger, { type SwaggerTransformObject } from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { problemSchema } from '../../core/wire.ts';

/** What the document of a service says of it. */
export interface ServiceDescription {
  title: string;
  description: string;
  /** The schemas that its routes answer with, by the name that each has in the document. */
  schemas: Record<string, z.ZodType>;
}

/**
 * Serves OpenAPI 3.1 at `/openapi.json`, made from the schemas that validate the routes registered after it. Its paths
 * are relative to the prefix of the service.
 */
export async function serveOpenApi(server: FastifyInstance, service: ServiceDescription): Promise<void> {
  const schemaRegistry = z.registry<{ id: string }>();
  const named = { ...service.schemas, Problem: problemSchema };
  for (const [id, schema] of Object.entries(named)) schemaRegistry.add(schema, { id });
  const withComponents = createJsonSchemaTransformObject({ schemaRegistry });
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: service.title, version: '1', description: service.description },
      servers: [{ url: server.prefix }],
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
      security: [{ key: [] }],
    },
    transform: createJsonSchemaTransform({ schemaRegistry }),
    transformObject: (document) => withoutInputs(withComponents(document)),
  });
  server.get('/openapi.json', { config: { public: true }, schema: { hide: true } }, () => server.swagger());
}

/** The provider adds a twin of every named schema for requests; these schemas only describe answers. */
function withoutInputs(document: ReturnType<SwaggerTransformObject>): ReturnType<SwaggerTransformObject> {
  const schemas: object = ('components' in document && document.components?.schemas) || {};
  for (const id of Object.keys(schemas)) if (id.endsWith('Input')) Reflect.deleteProperty(schemas, id);
  return document;
}
