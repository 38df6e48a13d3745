// The flash sale, while somebody reads something that has nothing to do with it: how much does a hot coupon hurt the rest?
import { Counter } from 'k6/metrics';
import { arrivals, input, onArrival, options as optionsOf, send } from './client.ts';

const probes = new Counter('probes');
const probeErrors = new Counter('probe_errors');
const isProbe = ({ name }: { name: string }) => name.startsWith('probe');

export const options = optionsOf(
  {
    ...arrivals(
      'grab',
      input.phases.filter((phase) => !isProbe(phase)),
    ),
    ...arrivals('probe', input.phases.filter(isProbe)),
  },
  { probes: ['count>0'], probe_errors: ['count==0'] },
);

export const probe = onArrival((place) => {
  const paths = input.probePaths!;
  const { outcome } = send({ request: 'probe', method: 'GET', path: paths[place % paths.length]! });
  probes.add(1);
  probeErrors.add(outcome === 'acknowledged' ? 0 : 1);
});

export { grab } from './grab.ts';
export { handleSummary } from './client.ts';
