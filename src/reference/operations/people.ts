import type { OperationTexts } from '../types.ts'

const start = (provider: string) => ({
  summary: `Start signing in with ${provider}`,
  text: `Sends the browser to ${provider} (302), or with \`Accept: application/json\` says where to send it. With a session or a bearer it links the identity to the current account instead of signing in.`,
})
const callback = (provider: string) => ({
  summary: `Return from ${provider}`,
  text: `Where ${provider} sends the browser after a sign-in or a link. Programs do not call this. An identity that belongs to another account gives 409 \`conflict\`.`,
})

export const peopleOperations: OperationTexts = {
  'workspaces.list': {
    summary: 'List your workspaces',
    text: 'Every workspace that the account is a member of, with its role there.',
  },
  'workspaces.create': {
    summary: 'Create a workspace',
    text: 'A workspace for a team. Its payments draw on the balance of the account that creates it, which stays its owning account.',
    body: 'CreateWorkspace',
  },
  'workspaces.current': {
    summary: 'Read the current workspace',
    text: 'The workspace that this credential works in, and the role of the caller. A caller without a grant may name another one with `Workspace-Id`.',
  },
  'workspaces.switch': {
    summary: 'Switch to another workspace',
    text: 'For sessions and dashboard tokens. A grant is bound to its workspace.',
    body: 'SwitchWorkspace',
  },
  'workspaces.update': {
    summary: 'Change the workspace',
    text: 'Its name and its time zone, which decides when a day and a month begin. A new time zone applies from the next local month.',
    body: 'UpdateWorkspace',
  },
  'workspaces.freeze': {
    summary: 'Freeze the workspace',
    text: 'Stops all payments and changes until the workspace is unfrozen. Revoking, archiving, rejecting and cancelling stay possible; payments under way finish.',
    body: 'FreezeWorkspace',
  },
  'workspaces.unfreeze': { summary: 'Unfreeze the workspace', text: 'Payments and changes are possible again.' },
  'workspaces.audit_log': {
    summary: "Read the workspace's audit log",
    text: 'Who did what in this workspace, when, and with which credential. The rows are never changed, and a chain of hashes seals them.',
  },
  'members.list': { summary: 'List members', text: 'Who works in this workspace, with role and state.' },
  'members.update': {
    summary: 'Change a member',
    text: 'Gives another role, or suspends and reinstates. The last owner and the owning account stay owners (409 `last_owner`).',
    body: 'UpdateMember',
  },
  'members.remove': {
    summary: 'Remove a member',
    text: 'Ends the membership and every grant that the member has given in this workspace.',
  },
  'invitations.create': {
    summary: 'Invite a member',
    text: 'Makes a one-time token, shown in this answer only. Addressed to an e-mail or a wallet, only an account that has it can accept.',
    body: 'CreateInvitation',
  },
  'invitations.list': { summary: 'List invitations', text: 'Invitations of the workspace, with their state.' },
  'invitations.revoke': {
    summary: 'Revoke an invitation',
    text: 'Its token stops working. Doing it again gives the same answer.',
  },
  'invitations.preview': {
    summary: 'Preview an invitation',
    text: 'Whose workspace it is for and with which role, before it is accepted.',
    body: 'PreviewInvitation',
  },
  'invitations.accept': {
    summary: 'Accept an invitation',
    text: 'Makes the account of the caller a member. Again by the same account: the same answer.',
    body: 'AcceptInvitation',
  },
  'notifications.stream': {
    summary: 'Follow events as they happen',
    text: 'Server-sent events for everything that the credential may read. After a lost connection send `Last-Event-ID`: the missed events are sent first. The stream is fast; the resources over REST are the source of truth.',
  },
  'notifications.list': {
    summary: 'List events',
    text: 'The same events as a list, for polling: with `after` all later events, oldest first.',
  },
  'sign_in.wallet_nonce': {
    summary: 'Begin signing in with a wallet',
    text: 'A nonce for one Sign-In with Ethereum message, valid for ten minutes. With an `address` the answer contains the message to sign.',
    body: 'CreateWalletNonce',
  },
  'sign_in.wallet_verify': {
    summary: 'Sign in with a wallet',
    text: 'Checks the signed message and sets the session cookie; a wallet that no account has gets a new account. With a session or a bearer it links the wallet to the current account instead.',
    body: 'VerifyWallet',
  },
  'sign_in.google_start': start('Google'),
  'sign_in.google_callback': callback('Google'),
  'sign_in.github_start': start('GitHub'),
  'sign_in.github_callback': callback('GitHub'),
  'sign_in.logout': {
    summary: 'Sign out',
    text: 'Ends the session at once, with its streams and its dashboard tokens, and clears the cookie.',
  },
  'sign_in.create_dashboard_token': {
    summary: 'Get a short-lived token',
    text: 'A bearer token of 15 minutes with the permissions of the request’s credential, for tools that cannot send its cookie. It ends with that credential.',
  },
  'identities.list': { summary: 'List sign-in methods', text: 'The identities that are linked to the account.' },
  'identities.link': {
    summary: 'Link a sign-in method',
    text: 'A wallet by a signed message, at once; Google and GitHub by an address that the person opens in a browser. An identity belongs to one account (409 `conflict`).',
    body: 'LinkIdentity',
  },
  'identities.unlink': {
    summary: 'Unlink a sign-in method',
    text: 'Ends the sessions that it started. The last one stays (409 `last_identity`).',
  },
  'passkeys.list': { summary: 'List passkeys', text: 'What the account can approve with. Passkeys do not sign in.' },
  'passkeys.prepare': {
    summary: 'Begin a passkey',
    text: 'What a browser needs to create a passkey: the options for `navigator.credentials.create()`, with a challenge that can be used once, for ten minutes.',
  },
  'passkeys.add': {
    summary: 'Add a passkey',
    text: 'Registers the passkey that the browser created. The authenticator must have verified its user. From then on approvals can be given with it: `POST /v1/approvals/:id/decide` with `passkey`.',
    body: 'CreatePasskey',
  },
  'passkeys.remove': {
    summary: 'Remove a passkey',
    text: 'What it approved and was not sent yet counts no more (event `approval.decision_voided`).',
  },
  'sessions.list': { summary: 'List sessions', text: 'The browsers in which the account is signed in.' },
  'sessions.revoke': { summary: 'End a session', text: 'Signs out one browser, with its next request.' },
}
