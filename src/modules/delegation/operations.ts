import type { OperationTexts } from '../../http/operation-text.ts'

export const delegationOperations = {
  'api_keys.create': {
    summary: 'Create an API key',
    text: 'The key is shown in this answer and never again. Its spending controls apply to everything paid with it. A key that is created with a key is its child: it never has more permissions or higher limits.',
    body: 'CreateApiKey',
  },
  'api_keys.list': { summary: 'List API keys', text: 'The keys of the account; a key sees itself and its descendants only.' },
  'api_keys.get': { summary: 'Read an API key', text: 'Its state, grant, controls, usage and headroom. Never the key itself.' },
  'api_keys.update': {
    summary: 'Change an API key',
    text: 'Its name and its spending controls. A field that is left out keeps its value, `null` removes a limit. A key cannot change its own controls.',
    body: 'UpdateApiKey',
  },
  'api_keys.rotate': {
    summary: 'Replace an API key',
    text: 'A new key on the same grant: limits and usage stay. With `overlap_seconds` the old key works until the new one is deployed everywhere.',
    body: 'RotateApiKey',
  },
  'api_keys.revoke': {
    summary: 'Revoke an API key',
    text: 'Takes effect with the next request, for its descendants too. Doing it again gives the same answer.',
  },
  'grants.list': {
    summary: 'List grants',
    text: 'Everything that was delegated by the account: to API keys and to OAuth clients.',
  },
  'grants.get': {
    summary: 'Read a grant',
    text: 'Its permissions, controls, usage, and the headroom that it and the grants above it leave.',
  },
  'grants.update': {
    summary: 'Change or freeze a grant',
    text: 'Changes its controls, or freezes it with `{"frozen": true}`: it can still read, and cannot pay. Takes effect at once.',
    body: 'UpdateGrant',
  },
  'grants.revoke': {
    summary: 'Revoke a grant',
    text: 'Ends it and everything that descends from it, at once: keys, access tokens and refresh tokens.',
  },
  'grants.revoke_all': {
    summary: 'Revoke all grants of a kind',
    text: 'The emergency stop for everything that was delegated: all API keys, or all OAuth clients.',
    body: 'RevokeAllGrants',
  },
  'workspace_grants.list': {
    summary: 'List all grants of the workspace',
    text: 'For owners and administrators of the workspace: what any member has delegated in it.',
  },
  'workspace_grants.freeze_all': {
    summary: 'Freeze all grants of the workspace',
    text: 'Stops every key and agent in the workspace: none of any member moves money until it is unfrozen. They can still read, and payments already sent still arrive.',
  },
  'workspace_grants.freeze': {
    summary: "Freeze or unfreeze a member's grant",
    text: 'For owners and administrators of the workspace: stops a key or an agent of any member from moving money, or allows it again.',
    body: 'FreezeGrant',
  },
  'workspace_grants.revoke': {
    summary: "Revoke a member's grant",
    text: 'For owners and administrators of the workspace: ends a grant that another member gave in this workspace, and its descendants.',
  },
} satisfies OperationTexts
