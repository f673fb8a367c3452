import type { OperationTexts } from '../../http/operation-text.ts'

export const workspacesOperations = {
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
  'admin.suspend_workspace': {
    summary: 'Suspend a workspace',
    text: 'Freezes it so that only an administrator can end the freeze.',
    body: 'SuspendWorkspace',
  },
  'admin.reinstate_workspace': { summary: 'Reinstate a workspace', text: 'Ends the suspension.', body: 'ReinstateWorkspace' },
} satisfies OperationTexts
