import { shortcutsOn, switchShortcuts } from '../lib/choices.ts'
import { useStore } from '../lib/store.ts'
import { CheckField } from '../ui/field.tsx'
import { Dialog } from '../ui/form.tsx'
import { useNav } from './nav-items.tsx'

const further: readonly (readonly [keys: string, what: string])[] = [
  ['Ctrl K', 'Search and commands'],
  ['n', 'New payment'],
  ['j', 'Next approval or payment'],
  ['k', 'Previous approval or payment'],
  ['x', 'Select approval'],
  ['Enter', 'Open approval'],
  ['a', 'Approve, with a confirmation'],
  ['r', 'Reject, with a confirmation'],
  ['?', 'Keyboard shortcuts'],
]

const Keys = ({ keys }: { keys: string }) => (
  <span className="row row-tight">
    {keys.split(' ').map((key) => (
      <kbd key={key}>{key}</kbd>
    ))}
  </span>
)

export const ShortcutHelp = ({ onClose }: { onClose: () => void }) => {
  const on = useStore(shortcutsOn)
  const { all } = useNav()
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="facts">
        {[...further, ...all.map(({ keys, label }) => [keys, `Go to ${label.toLowerCase()}`] as const)].flatMap(
          ([keys, what]) => [
            <dt key={`${keys}-keys`}>
              <Keys keys={keys} />
            </dt>,
            <dd key={keys}>{what}</dd>,
          ],
        )}
      </dl>
      <CheckField label="Single-key shortcuts" value={on} onChange={switchShortcuts} />
    </Dialog>
  )
}
