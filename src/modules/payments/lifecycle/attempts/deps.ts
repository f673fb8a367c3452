import type { Deps } from '../../deps.ts'

/** What sending an order needs, for the first time and again. */
export type OrderDeps = Pick<
  Deps,
  'alerts' | 'clock' | 'config' | 'contractWallets' | 'db' | 'logger' | 'orderNames' | 'rails' | 'vault' | 'witness'
>
