import type { Permission } from '../../../src/auth/permissions.ts'

/** What a permission lets somebody do, as it is asked for on the consent page and chosen for a key. */
export const permissionWords: Readonly<Record<Permission, string>> = {
  'account.read': 'See the account, its balance and history',
  'account.manage': 'Change the account and its ways to sign in',
  'key.manage': 'Make and revoke API keys below its own',
  'grant.manage': 'Change and revoke grants',
  'workspace.read': 'See the workspace and its members',
  'workspace.manage': 'Manage the workspace, its members and the freeze',
  'beneficiary.read': 'See beneficiaries (destinations masked)',
  'beneficiary.manage': 'Add, change and archive beneficiaries',
  'policy.read': 'See policies and try payments out',
  'policy.manage': 'Change and archive policies',
  'policy.create': 'Add policies, which can only tighten',
  'payment.read': 'See payments',
  'payment.create': 'Make payments, within its limits',
  'approval.read': 'See approvals',
  'approval.decide': 'Approve and reject payments',
  'mandate.read': 'See mandates',
  'mandate.manage': 'Revoke mandates',
  'topup.read': 'See top-ups',
  'topup.create': 'Start top-ups',
}

/** Those that let money move or rules change: worth a second look. */
export const isPowerful = (permission: Permission): boolean => /^(payment\.create|approval\.decide|.*\.manage)$/.test(permission)
