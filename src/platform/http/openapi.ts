import swagger, { type SwaggerTransform, type SwaggerTransformObject } from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { commonProblems } from './responses.ts';
import { problemSchema } from './wire.ts';

type ToJsonOverride = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>;

/** The description of a service in its document. */
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
  const toDocument = createJsonSchemaTransform({ schemaRegistry, zodToJsonConfig: { override } });
  const withComponents = createJsonSchemaTransformObject({ schemaRegistry });
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: service.title, version: '1', description: service.description },
      servers: [{ url: server.prefix }],
      components: { securitySchemes: { key: API_KEY } },
      security: [{ key: [] }],
    },
    transform: (route) => toDocument(withCommon(route)),
    transformObject: (document) => withoutInputs(withComponents(document)),
  });
  server.get('/openapi.json', { config: { public: true }, schema: { hide: true } }, () => server.swagger());
}

const API_KEY = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'sk_ID_SECRET',
  description:
    'An API key, as `evidence-platform init`, `evidence-platform keys create` and `POST /keys/` show it once. Each operation names the scope that the key must have.',
} as const;

/** Adds the answers of all routes, and the scope that each one needs. */
function withCommon(route: Parameters<SwaggerTransform>[0]): Parameters<SwaggerTransform>[0] {
  const { schema, route: options } = route;
  if (schema === undefined || schema.hide === true) return route;
  const response = { ...commonProblems(schema), ...(schema.response as object) };
  const { scope } = options.config ?? {};
  const security = scope === undefined ? [] : [{ key: [scope] }];
  return { ...route, schema: { ...schema, response, security } };
}

/** Adds to a schema what zod cannot express. */
const override: ToJsonOverride = ({ zodSchema, jsonSchema }) => {
  Object.assign(jsonSchema, z.globalRegistry.get(zodSchema));
};

/** The provider adds a twin of every named schema for requests; these schemas only describe answers. */
function withoutInputs(document: ReturnType<SwaggerTransformObject>): ReturnType<SwaggerTransformObject> {
  const schemas: object = ('components' in document && document.components?.schemas) || {};
  for (const id of Object.keys(schemas)) if (id.endsWith('Input')) Reflect.deleteProperty(schemas, id);
  return document;
}
