import type { Access } from './app-type.ts'

/** Access without a permission. `admin` is not among these: administrators are named one by one. */
type OpenAccess = Exclude<Access, 'admin'>

/**
 * Every operation that needs no permission, and the reason. A route with such access that is missing here, or is here with another access,
 * keeps the service from starting. So this access is always written down twice, once with its reason.
 */
export const withoutPermission: Readonly<Record<string, readonly [access: OpenAccess, reason: string]>> = {
  'beneficiaries.banks': ['public', 'The codes of banks are public.'],
  'service.health': ['public', 'Load balancers have no credential.'],
  'service.ready': ['public', 'Load balancers have no credential.'],
  'proof.keys': ['public', 'Strangers check receipts with them.'],
  'proof.log': ['public', 'A head shows how many seals there are and a hash, and nothing of what was sealed.'],
  'credentials.current': ['authenticated', 'Shows the credential itself, and nothing of the workspace besides its name.'],
  'sign_in.google_start': [
    'optional',
    'Signs in; with a session it links, which requires the authority to change sign-in methods.',
  ],
  'sign_in.google_callback': ['public', 'The flow that began it is bound to the browser by a cookie.'],
  'sign_in.github_start': [
    'optional',
    'Signs in; with a session it links, which requires the authority to change sign-in methods.',
  ],
  'sign_in.github_callback': ['public', 'The flow that began it is bound to the browser by a cookie.'],
  'sign_in.link_page': [
    'optional',
    'The link in its address is the secret; the session is compared with the account that requested it.',
  ],
  'sign_in.link_continue': ['public', 'A form token of the link’s page proves that the page was read.'],
  'sign_in.wallet_nonce': ['public', 'Comes before signing in.'],
  'sign_in.wallet_verify': [
    'optional',
    'The signature is the credential; with a session it links, which requires the authority to do so.',
  ],
  'sessions.prepare_proof': ['undelegated', 'A challenge that only the account’s own passkeys answer.'],
  'sessions.prove': ['undelegated', 'The passkey’s signature is the proof; it adds nothing that the session did not have.'],
  'sign_in.logout': ['optional', 'Ends the session of the request; without a session there is nothing to end.'],
  'sign_in.create_dashboard_token': ['authenticated', 'The token has the permissions of the request’s credential, and no more.'],
  'oauth.server_metadata': ['public', 'RFC 8414: clients read it before they have a credential.'],
  'oauth.resource_metadata': ['public', 'RFC 9728: clients read it before they have a credential.'],
  'oauth.mcp_resource_metadata': ['public', 'RFC 9728: clients read it before they have a credential.'],
  'oauth.authorize': ['optional', 'Sends the browser to the consent page, or to sign-in first.'],
  'oauth.token': ['public', 'The client authenticates itself, or proves its code by PKCE.'],
  'oauth.revoke': ['public', 'The client authenticates itself; holding a token is enough to end it.'],
  'oauth.introspect': ['public', 'The resource server authenticates itself.'],
  'oauth.push': ['public', 'The client authenticates itself.'],
  'oauth.device_authorization': ['public', 'The client authenticates itself; a person decides.'],
  'oauth.register': ['public', 'RFC 7591: a registration gives no access, a person decides about that.'],
  'oauth.get_authorization': [
    'undelegated',
    'Shows a person what the client requests; what they may give is checked when they decide.',
  ],
  'oauth.decide_authorization': ['undelegated', 'A person gives no more than what they have in the workspace that they choose.'],
  'oauth.get_device': ['undelegated', 'Shows a person what the client requests; what they may give is checked when they decide.'],
  'oauth.decide_device': ['undelegated', 'A person gives no more than what they have in the workspace that they choose.'],
  'accounts.close': ['undelegated', 'A person closes their own account; a key or an agent never does.'],
  'passkeys.list': ['undelegated', 'Shows a person their own passkeys.'],
  'passkeys.prepare': ['undelegated', 'A person begins a passkey of their own; nothing is registered yet.'],
  'passkeys.add': ['undelegated', 'Registers a passkey of the person; it approves only where their role lets them.'],
  'passkeys.remove': ['undelegated', 'A person removes a passkey of their own.'],
  'push.key': ['public', 'A public key; browsers name it to their push service.'],
  'push_subscriptions.list': ['undelegated', 'Shows a person the browsers that get their notices.'],
  'push_subscriptions.create': [
    'undelegated',
    'A person’s own browser gets notices of what the person may decide, while its session lasts.',
  ],
  'push_subscriptions.delete': ['undelegated', 'A person ends the notices of a browser of their own.'],
  'workspaces.current': ['authenticated', 'Every credential may know in which workspace it acts.'],
  'workspaces.switch': ['undelegated', 'Only into a workspace that has the caller as a member.'],
  'invitations.preview': ['undelegated', 'The invitation’s secret is in the body; the caller is no member yet.'],
  'invitations.accept': ['undelegated', 'The invitation’s secret is in the body; the caller is no member yet.'],
  'notifications.stream': ['authenticated', 'Each event requires the permission to read its resource.'],
  'notifications.list': ['authenticated', 'Each event requires the permission to read its resource.'],
  'approvals.message': [
    'public',
    'A wallet without a session has to read what it signs; only people who may decide know the id.',
  ],
  'approvals.decide_by_signature': ['public', 'The signature is the credential, of a wallet whose account may decide.'],
  'mandates.prepare': ['public', 'Writes the message that a wallet signs, and stores only a nonce.'],
  'mandates.create': ['public', 'The signature is the credential, of a wallet whose account may pay.'],
  'mandates.revocation_message': ['public', 'A wallet without a session has to read what it signs.'],
  'mandates.revoke': ['optional', 'A signature of the wallet, or a credential with mandate.manage.'],
  'mcp.call': ['authenticated', 'Each tool calls a route, which requires its own permission.'],
}
