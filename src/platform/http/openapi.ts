import swagger, { type SwaggerTransform, type SwaggerTransformObject } from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { commonProblems } from './responses.ts';
import { problemSchema } from './wire.ts';

type ToJsonOverride = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>;

/** Description of a service in its OpenAPI document. */
export interface ServiceDescription {
  title: string;
  description: string;
  /** Schemas of answers, by their names in the document. */
  schemas: Record<string, z.ZodType>;
}

/**
 * Serves OpenAPI 3.1 at `/openapi.json`, generated from the schemas that validate the routes registered afterwards.
 * Paths are relative to the prefix of the service.
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
    'An API key, as shown once by `evidence-platform init`, `evidence-platform keys create` and `POST /keys/`. Each operation states the scope that the key needs.',
} as const;

/** Adds the answers that all routes share, and the scope of each route. */
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

/** Removes the request variants that the provider adds to every named schema; these schemas only describe answers. */
function withoutInputs(document: ReturnType<SwaggerTransformObject>): ReturnType<SwaggerTransformObject> {
  const schemas: object = ('components' in document && document.components?.schemas) || {};
  for (const id of Object.keys(schemas)) if (id.endsWith('Input')) Reflect.deleteProperty(schemas, id);
  return document;
}
