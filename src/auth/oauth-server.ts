import { generateKeyPairSync } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Configuration, KoaContextWithOIDC, Provider } from 'oidc-provider'
import { grantIdOf, oauthAdapter, SOMEBODY } from './oauth-adapter.ts'
import { MCP_PATH, resourceOf } from './resource.ts'
import type { Keeper } from './second-factor.ts'

/** The scopes that a client can ask for. */
export const SCOPES = ['read', 'write'] as const

/** Where the endpoints stand. */
export const ENDPOINTS = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  registration: '/oauth/register',
  revocation: '/oauth/revoke',
  device_authorization: '/oauth/device/code',
  code_verification: '/oauth/device',
} as const

/** How long what is issued lasts, in seconds. */
const SECONDS = {
  AccessToken: 3600,
  AuthorizationCode: 60,
  DeviceCode: 600,
  Grant: 365 * 86_400,
  Interaction: 1800,
  // A client that is not used for so long has to ask its person again.
  RefreshToken: 30 * 86_400,
  Session: 1800,
}

/** How long a consent holds at most, in milliseconds. */
export const GRANT_MS = SECONDS.Grant * 1000

/** What a client asks a person for, as it stands until they have decided. */
export interface Asked {
  client: {
    id: string
    /** What it calls itself. */
    name: string
    /** Whether its id is an address at which it was found, so that the host of that address stands for it. */
    isDocument: boolean
  }
  /** Where the answer goes; undefined where the client only showed a code. */
  returnsTo: string | undefined
  resource: string
  scopes: readonly string[]
}

/** What people see of the authorization server itself; each gives a whole page of HTML. */
interface OAuthPages {
  enterCode(form: { xsrf: string; code: string; wrong: string | undefined }): string
  confirmCode(form: { xsrf: string; code: string; client: string }): string
  codeAccepted(): string
  problem(error: { error: string; description: string }): string
  /** The headers that go with each. */
  headers: Record<string, string>
}

interface OAuthOptions {
  keeper: Keeper
  /** Where this server stands, without a slash at the end: its issuer (RFC 8414). */
  issuer: string
  /** Whether an origin is one of ours; a client may ask at one for a token that is good at another. */
  isOrigin: (origin: string) => boolean
  cookieKey: string
  pages: OAuthPages
  /** Fetches a client's metadata document, whose address anybody can give: with address checks. */
  fetch: (url: URL) => Promise<Response>
  /** Where faults of ours go. */
  log: (error: unknown) => void
}

/** An authorization server for OAuth 2.1 at one issuer. */
export interface OAuthServer {
  /** Answers a request to one of its endpoints. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** What is asked in this browser under `/connect/UID`; undefined where nothing is (any more). */
  asked(request: IncomingMessage, response: ServerResponse): Promise<Asked | undefined>
  /** Ends the asking with a grant, or without one; gives the address that leads back to the client. */
  answer(
    request: IncomingMessage,
    response: ServerResponse,
    grant: { account: number; grant: number } | undefined,
  ): Promise<string>
}

/** Loads oidc-provider, which is large, so only where somebody asks for it. */
export async function oauthServer(options: OAuthOptions): Promise<OAuthServer> {
  const { issuer } = options
  const { default: OidcProvider, errors, interactionPolicy } = await import('oidc-provider')
  const { Prompt, Check } = interactionPolicy
  // Each request is a person's to decide: no consent of yesterday answers for today's, whatever a client asks.
  const consent = new Prompt(
    { name: 'consent', requestable: true },
    new Check('undecided', 'a person decides each time', ({ oidc }) => oidc.result?.consent === undefined),
  )
  const provider: Provider = new OidcProvider(issuer, {
    ...configuration(options, () => new errors.InvalidTarget()),
    adapter: oauthAdapter(options.keeper, () => new errors.InvalidGrant('it was used already')),
    interactions: { policy: [consent], url: (_ctx, { uid }) => `/connect/${uid}` },
  } as Configuration)
  provider.proxy = true
  provider.on('server_error', (_ctx, error) => options.log(error))
  provider.use(async (ctx, next) => {
    // Only our own form carries a code on; the library's would send itself off by a script in the page.
    if (ctx.path === ENDPOINTS.code_verification && ctx.method === 'GET' && ctx.query.user_code) {
      ctx.state.userCode = String(ctx.query.user_code)
      ctx.query = {}
    }
    // A browser that has lost its cookie gets the form again: the library would take the lack of it for a fault of ours.
    if (ctx.path === ENDPOINTS.code_verification && ctx.method === 'POST') {
      const { exp } = await provider.Session.get(ctx)
      if (exp === undefined) {
        ctx.redirect(ENDPOINTS.code_verification)
        ctx.status = 303
        return
      }
    }
    const refused = ctx.path === ENDPOINTS.authorization ? refusalOf(ctx.query) : undefined
    if (refused) {
      ctx.status = 400
      ctx.type = 'html'
      ctx.body = options.pages.problem(refused)
    } else await next()
    if (ctx.path.startsWith('/.well-known/') && ctx.status === 200) ctx.body = metadata(ctx.body as Metadata)
    if (ctx.type === 'text/html') ctx.set(options.pages.headers)
  })
  const callback = provider.callback()

  /** The addresses that it writes are those of its issuer, whatever a proxy or a client says in between. */
  function atIssuer(request: IncomingMessage): IncomingMessage {
    const { host, protocol } = new URL(issuer)
    request.headers['x-forwarded-host'] = host
    request.headers['x-forwarded-proto'] = protocol.slice(0, -1)
    return request
  }

  return {
    handle: (request, response) => callback(atIssuer(request), response),
    async asked(request, response) {
      const details = await provider
        .interactionDetails(atIssuer(request), response)
        .catch((error: unknown) => {
          if (error instanceof errors.SessionNotFound) return undefined
          throw error
        })
      if (!details) return undefined
      const { params, deviceCode } = details
      const id = String(params.client_id)
      const client = await provider.Client.find(id)
      if (!client) return undefined
      const scopes = String(params.scope ?? SCOPES.join(' ')).split(' ')
      return {
        client: { id, name: client.clientName ?? '', isDocument: isDocument(id) },
        returnsTo: deviceCode ? undefined : String(params.redirect_uri),
        resource: String([params.resource].flat()[0]),
        scopes: SCOPES.filter((scope) => scopes.includes(scope)),
      }
    },
    answer: (request, response, grant) =>
      provider.interactionResult(
        atIssuer(request),
        response,
        grant
          ? {
              login: { accountId: SOMEBODY, remember: false },
              consent: { grantId: grantIdOf(grant) },
            }
          : { error: 'access_denied', error_description: 'the person has refused' },
        { mergeWithLastSubmission: false },
      ),
  }
}

function configuration(options: OAuthOptions, noSuchResource: () => Error): Configuration {
  const { isOrigin, cookieKey, issuer } = options
  const cookie = { httpOnly: true, sameSite: 'lax', signed: true } as const
  return {
    cookies: {
      names: { session: 'done_oauth', interaction: 'done_connect', resume: 'done_resume' },
      long: cookie,
      short: cookie,
      keys: [cookieKey],
    },
    routes: ENDPOINTS,
    ttl: SECONDS,
    responseTypes: ['code'],
    scopes: [],
    pkce: { required: () => true },
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    clientDefaults: {
      grant_types: ['authorization_code', 'refresh_token'],
      id_token_signed_response_alg: 'Ed25519',
    },
    // The library wants a key for tokens of OpenID Connect, of which it gives none: nobody signs in elsewhere by this server.
    jwks: { keys: [generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })] },
    // A client is public or has a secret of its own; nothing here is signed by it.
    extraClientMetadata: { properties: ['software_id'], validator: normalise },
    allowOmittingSingleRegisteredRedirectUri: false,
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: () => false,
    clientBasedCORS: () => false,
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    loadExistingGrant: async ({ oidc }) => {
      const grantId = oidc.result?.consent?.grantId
      return grantId === undefined ? undefined : oidc.provider.Grant.find(grantId)
    },
    fetch: (url: unknown) => options.fetch(new URL(String(url))),
    renderError(ctx, out) {
      ctx.type = 'html'
      ctx.body = options.pages.problem({ error: out.error, description: out.error_description ?? '' })
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
      registration: { enabled: true, issueRegistrationAccessToken: false },
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => issuer + MCP_PATH,
        useGrantedResource: () => true,
        getResourceServerInfo(_ctx, indicator) {
          const audience = resourceOf(indicator, isOrigin)
          if (audience === undefined) throw noSuchResource()
          return { scope: SCOPES.join(' '), audience, accessTokenFormat: 'opaque' }
        },
      },
      deviceFlow: {
        enabled: true,
        userCodeInputSource(ctx, _form, _out, error) {
          ctx.body = options.pages.enterCode({
            xsrf: xsrfOf(ctx),
            code: (ctx.state.userCode as string | undefined) ?? '',
            wrong: error && 'This code is not good: it was mistyped, is used up or has expired.',
          })
        },
        userCodeConfirmSource(ctx, _form, client, _device, code) {
          const name = client.clientName ?? client.clientId
          ctx.body = options.pages.confirmCode({ xsrf: xsrfOf(ctx), code, client: name })
        },
        successSource(ctx) {
          ctx.body = options.pages.codeAccepted()
        },
      },
    },
  } as Configuration
}

/** What the library would take, and we do not. */
function refusalOf({ response_mode: mode, resource }: NodeJS.Dict<string | string[]>) {
  // The other modes answer by a script in a page, or in a fragment that no host of ours asks for.
  if (mode !== undefined && mode !== 'query') {
    const description = 'The answer can only be given in the query of an address.'
    return { error: 'unsupported_response_mode', description }
  }
  // A person consents to one resource, and a token is good for one.
  if (Array.isArray(resource)) return { error: 'invalid_target', description: 'Ask for one resource.' }
  return undefined
}

const xsrfOf = (ctx: KoaContextWithOIDC): string =>
  (ctx.oidc.session as unknown as { state: { secret: string } }).state.secret

/**
 * Every client is a native one to the library: its addresses are https, loopback at any port (RFC 8252, 7.3), or a scheme of
 * its own. What it says of scopes is left out, since a person decides on them each time.
 */
function normalise(_ctx: unknown, _key: string, _value: unknown, metadata: Record<string, unknown>): void {
  metadata.application_type = 'native'
  // A document holds no secret, so one that names no method is of a public client.
  if (isDocument(metadata.client_id) && metadata.token_endpoint_auth_method === 'client_secret_basic')
    metadata.token_endpoint_auth_method = 'none'
  delete metadata.scope
}

/** Whether a client's id is the address of its metadata document. */
const isDocument = (id: unknown): boolean => String(id).startsWith('https:')

type Metadata = Record<string, unknown>

/** RFC 8414, without what belongs to OpenID Connect. */
function metadata(all: Metadata): Metadata {
  const { authorization_response_iss_parameter_supported, client_id_metadata_document_supported } = all
  return {
    issuer: all.issuer,
    authorization_endpoint: all.authorization_endpoint,
    token_endpoint: all.token_endpoint,
    registration_endpoint: all.registration_endpoint,
    revocation_endpoint: all.revocation_endpoint,
    device_authorization_endpoint: all.device_authorization_endpoint,
    scopes_supported: SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: all.grant_types_supported,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: all.token_endpoint_auth_methods_supported,
    authorization_response_iss_parameter_supported,
    client_id_metadata_document_supported,
  }
}
