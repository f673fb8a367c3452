/** Every `details.reason` of a 409: why the request conflicts with the current state. */
export const conflictReasons = {
  already_member: 'The person who is invited is already a member.',
  archived: 'It is archived, and does not change or take payments any more.',
  balance: 'The account still has money.',
  decided: 'It was decided already.',
  exhausted: 'The mandate has been used up.',
  expired: 'Its time is over.',
  grant_ended: 'The grant has ended.',
  idempotency: 'The idempotency key was used with another request.',
  identity: 'The identity belongs to another account.',
  invitation_accepted: 'The invitation was accepted already.',
  invitation_expired: 'The invitation has expired.',
  invitation_revoked: 'The invitation was revoked.',
  limit_reached: 'There are as many of these as there may be; `message` says how many and what to do.',
  late_success: 'The payment has no late success to book, or it is booked already.',
  nonce: 'The nonce is for other terms or another wallet.',
  paybill_frozen: 'The whole paybill is frozen, by another beneficiary.',
  provider_receipt: 'Another payment has this receipt.',
  revoked: 'It was revoked already.',
  rotated: 'The key was rotated already.',
  self: 'Administrators do not do this to themselves.',
  status: 'It is in a state in which this is not possible; `details.status` names it.',
  version: 'It was changed in the meantime; `details.version` is the current one.',
} as const

export type ConflictReason = keyof typeof conflictReasons
