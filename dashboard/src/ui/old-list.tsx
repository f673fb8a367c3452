import { Time } from './time.tsx'

/** Above a list that could not be read again: what is shown is what was read then. */
export const OldList = ({ at }: { at: number }) => (
  <p className="quiet">
    This list is old: it was read <Time at={new Date(at).toISOString()} />.
  </p>
)
