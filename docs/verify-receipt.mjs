#!/usr/bin/env node
// Verifies a payment's decision receipt offline: node docs/verify-receipt.mjs receipt.json (or - for standard input).
// Checks the digest, that every signature is its signer's over the message it came with, that each message is about this very
// payment, that enough distinct approvers said yes, and that the ledger's transfers end the hold once and for the whole amount.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { recoverMessageAddress } from 'viem'

const canonical = (value) => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`
}

const lines = (message) => new Set(message.split('\n'))

async function* signatures(receipt) {
  for (const decision of receipt.approval?.decisions ?? []) {
    if (decision.signature) yield { what: `approval by ${decision.account_id} (${decision.via})`, ...decision }
  }
  if (receipt.mandate) yield { what: `mandate ${receipt.mandate.id}`, ...receipt.mandate }
}

const checkSignature = async ({ what, message, signature, signer }) => {
  // 65 bytes is a key's signature; anything else is a contract wallet's, which only its chain can answer for.
  if (!/^0x[0-9a-fA-F]{130}$/.test(signature)) return { what, result: 'not verifiable offline (contract wallet)', good: true }
  const recovered = await recoverMessageAddress({ message, signature }).catch(() => 'nobody')
  return { what: `signature of ${what}`, result: recovered, good: recovered.toLowerCase() === signer.toLowerCase() }
}

const checkMessage = (receipt, decision) => {
  const { payment, approval } = receipt
  const expected = [
    `Decision: ${decision.decision}`,
    `Approval: ${approval.id}`,
    `Payment: ${payment.id}`,
    `Amount in minor units: ${payment.amount_minor} ${payment.currency}`,
    `Policies: ${payment.decision.policy_versions.map(({ id, version }) => `${id}@${version}`).join(' ') || 'none'}`,
  ]
  const present = lines(decision.message)
  const missing = expected.filter((line) => !present.has(line))
  const verbatim = decision.message === approval.messages[decision.decision]
  return {
    what: `message signed by ${decision.account_id}`,
    result: missing.length ? `lacks "${missing[0]}"` : 'about this payment',
    good: verbatim && missing.length === 0,
  }
}

const checkQuorum = ({ payment, approval }) => {
  const yes = new Set(
    (approval?.decisions ?? []).filter(({ decision }) => decision === 'approve').map(({ account_id }) => account_id),
  )
  if (approval?.separation_of_duties) yes.delete(payment.initiated_by.account_id)
  const went = ['processing', 'succeeded', 'unknown', 'returned'].includes(payment.status)
  const needed = went ? payment.decision.required_approvals : 0
  return {
    what: 'quorum',
    result: `${yes.size} of ${needed} needed`,
    good: yes.size >= needed || payment.decision.outcome === 'allow',
  }
}

const checkLedger = ({ payment, ledger_transfers: transfers }) => {
  const holds = transfers.filter(({ kind }) => kind === 'pending')
  const ends = transfers.filter(({ kind }) => kind === 'post' || kind === 'void')
  const whole = transfers.every(({ amount_minor }) => amount_minor === payment.amount_minor)
  const paired = ends.every(({ ends: hold }) => hold === holds[0]?.id)
  const open = ['pending_approval', 'processing', 'unknown'].includes(payment.status)
  const paid = ['succeeded', 'returned'].includes(payment.status)
  const ended = open ? ends.length === 0 : ends.length === 1 && (ends[0].kind === 'post') === paid
  return {
    what: 'ledger',
    result: `${holds.length} hold, ${ends.map(({ kind }) => kind).join() || 'not ended'}`,
    good: holds.length === 1 && whole && paired && ended,
  }
}

const checkPolicies = ({ payment, policies }) => {
  const kept = policies.map(({ id, version }) => `${id}@${version}`).join()
  const decided = payment.decision.policy_versions.map(({ id, version }) => `${id}@${version}`).join()
  const same = policies.every(({ id, version, document }) => document.id === id && document.version === version)
  return { what: 'policies', result: decided || 'none', good: kept === decided && same }
}

const { digest, ...body } = JSON.parse(readFileSync(process.argv[2] === '-' || !process.argv[2] ? 0 : process.argv[2], 'utf8'))
const computed = `sha256:${createHash('sha256').update(canonical(body)).digest('hex')}`
const findings = [
  { what: 'digest', result: computed, good: computed === digest },
  checkPolicies(body),
  checkQuorum(body),
  checkLedger(body),
]
for await (const signed of signatures(body)) findings.push(await checkSignature(signed))
for (const decision of body.approval?.decisions ?? [])
  if (decision.via === 'signature') findings.push(checkMessage(body, decision))
for (const { what, result, good } of findings) console.log(`${good ? 'ok  ' : 'BAD '} ${what}: ${result}`)
const bad = findings.filter(({ good }) => !good).length
console.log(bad === 0 ? 'The receipt holds.' : `${bad} of ${findings.length} checks failed.`)
process.exitCode = bad === 0 ? 0 : 1
