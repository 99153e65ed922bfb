import { OperatorError } from '@partner-network/common/errors';
import { ownManifest } from '@partner-network/common/process';

/** Loads OpenTelemetry. It is two thirds of what would be installed, so our package does not bring it. */
export async function loadTracing() {
  try {
    return await import('./open-telemetry.ts');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const packages = Object.entries(ownManifest().peerDependencies).map((names) => names.join('@'));
    throw new OperatorError(
      `Traces need OpenTelemetry, which is not installed. Run "npm install ${packages.join(' ')}" ` +
        'where partner-network is installed, with -g if it is installed globally.',
    );
  }
}
