import type { OperationTexts } from '../../http/operation-text.ts'

const start = (provider: string) => ({
  summary: `Start signing in with ${provider}`,
  text: `Sends the browser to ${provider} (302), or with \`Accept: application/json\` says where to send it. With a session or a bearer it links the identity to the current account instead of signing in.`,
})
const callback = (provider: string) => ({
  summary: `Return from ${provider}`,
  text: `Where ${provider} sends the browser after a sign-in or a link. Programs do not call this. An identity that belongs to another account gives 409 \`conflict\`.`,
})

export const identityOperations = {
  'accounts.get': {
    summary: 'Read your account',
    text: 'The balance, the capabilities and the sign-in methods of the account behind the credential. `available_minor` is what can be spent now; `held_minor` is reserved by payments under way.',
  },
  'accounts.update': {
    summary: 'Rename your account',
    text: 'Changes the name that other members see. The e-mail is not set here: it is always a verified e-mail of a linked identity.',
    body: 'UpdateAccount',
  },
  'accounts.close': {
    summary: 'Close your account',
    text: 'Closes the account for good. Only a person can, and only while nothing is held and the balance is 0: pay the rest out first. Every key, agent, session and sign-in method ends, its workspaces close to all members, and what waits for an approval or a date is cancelled. The e-mail, the names and the addresses of sessions are removed, and the destinations of its payees can no longer be read by anyone. What was signed, receipts and the ledger are kept for as long as the law asks. A later sign-in begins a new account.',
  },
  'accounts.history': {
    summary: 'List the history of the balance',
    text: 'Every movement of the balance, from the ledger, newest first. The entries of a period add up to the change of the balance in that period. With `Accept: text/csv` everything that the filters match is streamed as CSV, for accounting.',
  },
  'accounts.history_summary': {
    summary: 'Add up the history by day',
    text: 'Money in and out for each day of the current workspace, oldest first: for a chart, without reading every entry.',
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
    text: 'Ends the sessions that it started, and lists what was added in them (`began_here`). If it was stolen, `?end=everything` ends all of that too. The last one stays (409 `last_identity`).',
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
    text: 'Its approvals of payments that were not sent yet no longer count (event `approval.decision_voided`).',
  },
  'sessions.list': { summary: 'List sessions', text: 'The browsers in which the account is signed in.' },
  'sessions.prepare_proof': {
    summary: 'Begin a proof by passkey',
    text: 'What a browser needs to sign with a passkey: the options for `navigator.credentials.get()`, with a challenge that can be used once, in this session, for ten minutes.',
  },
  'sessions.prove': {
    summary: 'Prove a session by passkey',
    text: 'Who holds the session is still its person: for ten minutes it may do again what needs a fresh proof (403 `step_up_required`). Signing in again with a method of the account, within the session, does the same. A passkey or a method counts if the session began with it, or if it was added before the session began.',
    body: 'ProveSession',
  },
  'sessions.revoke': {
    summary: 'End a session',
    text: 'Signs out one browser, with its next request, and lists what was added in it (`began_here`). If it was stolen, `?end=everything` ends all of that too.',
  },
  'admin.list_accounts': { summary: 'Find accounts', text: 'By id, e-mail, wallet or status.' },
  'admin.get_account': { summary: 'Read an account', text: 'With its identities and balance.' },
  'admin.update_account': {
    summary: 'Freeze an account or switch a capability',
    text: 'Freezes an account, closes one without a balance, or disables top-ups, payments, keys or OAuth for it. The reason is for the audit log.',
    body: 'AdministerAccount',
  },
} satisfies OperationTexts
