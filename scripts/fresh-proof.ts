import type { RouteEntry } from '../src/http/route-table.ts'

const stops = 'Only stops, ends or takes back something.'
const underRules = 'Moves money, or agrees to it, only under the rules of the workspace.'
const bySignature = 'The signature is the proof, whichever session sends it.'
const ofClient = 'The client authenticates itself; a session decides nothing here.'
const signIn = 'Signs in. To link: a new method needs the proof, one that is linked gives it.'
const beforeSignIn = 'Gives nothing before the callback.'
const adds = 'Adds a way to act for the account that lasts longer than the session.'
const adminAct = 'Every act of an administrator needs it.'
const loosens = 'Lets more pass than before.'
const lifts = 'Lifts a stop, which may have been set because of a theft.'

/** For each operation that does more than read: why a session needs a fresh proof for it, or why not. */
const reasons: Readonly<Record<string, string>> = {
  'accounts.update': 'Changes a name that is shown.',
  'accounts.close': 'Ends the account for good.',
  'identities.link': adds,
  'identities.unlink': 'Could take the way to sign in from its owner.',
  'sessions.revoke': 'A session ends itself freely. Another one, or everything that began there, could be the owner’s.',
  'sessions.prepare_proof': 'Begins a proof.',
  'sessions.prove': 'Gives the proof.',
  'passkeys.prepare': 'Registers nothing yet.',
  'passkeys.add': adds,
  'passkeys.remove': 'Takes a way to approve from its owner.',
  'api_keys.create': adds,
  'api_keys.rotate': adds,
  'api_keys.update': 'Only with wider controls, which let more pass than before.',
  'api_keys.revoke': stops,
  'grants.update': 'Only with wider controls, or to lift a freeze.',
  'grants.revoke': stops,
  'grants.revoke_all': stops,
  'workspace_grants.freeze': 'Only to lift a freeze, which may have been set because of a theft.',
  'workspace_grants.freeze_all': stops,
  'workspace_grants.revoke': stops,
  'sign_in.google_start': beforeSignIn,
  'sign_in.github_start': beforeSignIn,
  'sign_in.link_page': beforeSignIn,
  'sign_in.link_continue': beforeSignIn,
  'sign_in.google_callback': signIn,
  'sign_in.github_callback': signIn,
  'sign_in.wallet_nonce': 'Gives a text that only the wallet can sign.',
  'sign_in.wallet_verify': signIn,
  'sign_in.logout': stops,
  'sign_in.create_dashboard_token': 'The token ends with the session, and never has a proof.',
  'oauth.authorize': 'Sends the browser on; a person consents later.',
  'oauth.decide_authorization': 'Only to approve, which adds a way to act for the account.',
  'oauth.decide_device': 'Only to approve, which adds a way to act for the account.',
  'oauth.token': ofClient,
  'oauth.revoke': ofClient,
  'oauth.introspect': ofClient,
  'oauth.push': ofClient,
  'oauth.device_authorization': ofClient,
  'oauth.register': ofClient,
  'workspaces.create': 'A new workspace gives no rights in the existing ones.',
  'workspaces.switch': 'Chooses where the session acts.',
  'workspaces.update': 'Only for another time zone, which decides when limits count anew.',
  'workspaces.freeze': stops,
  'workspaces.unfreeze': lifts,
  'workspaces.separate_balance': 'Takes a sum from the rules that guard it.',
  'workspaces.confirm_separation': 'Takes a sum from the rules that guard it.',
  'workspaces.withdraw_separation': stops,
  'members.update': 'Only to give rights, or to change a member who may decide.',
  'members.remove': 'Only for a member who may decide.',
  'invitations.create': 'Lets another person in.',
  'invitations.revoke': stops,
  'invitations.accept': 'Joins the workspace of another person.',
  'beneficiaries.create': underRules,
  'beneficiaries.update': 'Only to lift a freeze. A new name is shown with the person who changed it.',
  'beneficiaries.confirm': underRules,
  'beneficiaries.verify': 'Asks the rail for a name.',
  'beneficiaries.archive': stops,
  'policies.create': 'Another policy can only tighten.',
  'policies.update': 'Only to loosen.',
  'policies.archive': loosens,
  'policies.confirm_change': loosens,
  'policies.withdraw_change': stops,
  'notification_settings.update': 'Only to switch something off: a stolen session could silence its owner.',
  'push_subscriptions.create': 'Sends notifications to this browser, while its session lasts.',
  'push_subscriptions.delete': 'Only for another session’s, which may be how the owner hears of an approval.',
  'payments.create': underRules,
  'payments.cancel': stops,
  'payment_batches.create': underRules,
  'payment_batches.cancel': stops,
  'approvals.decide': underRules,
  'approvals.decide_by_signature': bySignature,
  'mandates.prepare': bySignature,
  'mandates.create': bySignature,
  'mandates.revoke': stops,
  'topups.initiate': 'Brings money in.',
  'mcp.call': 'Each tool calls a route, which has a row of its own.',
}

/** @throws for an operation without a reason */
export const proofReason = ({ operation, method, rule, freshProof, changesNothing }: RouteEntry): string => {
  const reason = reasons[operation]
  if (reason !== undefined) return reason
  if (freshProof === null && (method === 'GET' || changesNothing)) return 'Only reads.'
  if (rule === 'admin') return adminAct
  throw new Error(`${operation}: scripts/fresh-proof.ts does not say whether a session needs a fresh proof for it, and why`)
}

export const withProofReason: readonly string[] = Object.keys(reasons)
