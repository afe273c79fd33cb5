/* The part of a run's distance that nobody can leave out: a geodesic (Vincenty's inverse, WGS84) from every fix to the
 * next, in plain C.
 *
 * geodesic ROUNDS: reads a latitude and a longitude in degrees per line, goes through all of them ROUNDS times, and prints
 * the nanoseconds of every round, then the metres. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const double equator = 6378137.0, flattening = 1 / 298.257223563, radian = 3.14159265358979323846 / 180;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void reduce(double latitude, double *sine, double *cosine) {
  double y = (1 - flattening) * sin(latitude * radian), x = cos(latitude * radian), length = sqrt(x * x + y * y);
  *sine = y / length;
  *cosine = x / length;
}

static double distance(const double *from, const double *to) {
  if (from[0] == to[0] && from[1] == to[1]) return 0;
  double sin1, cos1, sin2, cos2, pole = equator * (1 - flattening);
  reduce(from[0], &sin1, &cos1);
  reduce(to[0], &sin2, &cos2);
  double difference = remainder(to[1] - from[1], 360) * radian, lambda = difference;
  for (int round = 0; round < 100; round++) {
    double sin_lambda = sin(lambda), cos_lambda = cos(lambda);
    double across = cos2 * sin_lambda, along = cos1 * sin2 - sin1 * cos2 * cos_lambda;
    double sin_sigma = sqrt(across * across + along * along);
    if (sin_sigma == 0) return 0;
    double cos_sigma = sin1 * sin2 + cos1 * cos2 * cos_lambda, sigma = atan2(sin_sigma, cos_sigma);
    double sin_alpha = cos1 * cos2 * sin_lambda / sin_sigma, square = 1 - sin_alpha * sin_alpha;
    double middle = square > 1e-15 ? cos_sigma - 2 * sin1 * sin2 / square : 0;
    double c = flattening / 16 * square * (4 + flattening * (4 - 3 * square));
    double next = difference + (1 - c) * flattening * sin_alpha *
                                   (sigma + c * sin_sigma * (middle + c * cos_sigma * (2 * middle * middle - 1)));
    double change = fabs(next - lambda);
    lambda = next;
    if (change > 1e-14) continue;
    double u = square * (equator * equator - pole * pole) / (pole * pole);
    double a = 1 + u / 16384 * (4096 + u * (-768 + u * (320 - 175 * u)));
    double b = u / 1024 * (256 + u * (-128 + u * (74 - 47 * u)));
    double inner = cos_sigma * (2 * middle * middle - 1);
    double outer = b / 6 * middle * (4 * sin_sigma * sin_sigma - 3) * (4 * middle * middle - 3);
    return pole * a * (sigma - b * sin_sigma * (middle + b / 4 * (inner - outer)));
  }
  return NAN;
}

int main(int count, char **words) {
  int rounds = count == 2 ? atoi(words[1]) : 0;
  if (rounds < 1) {
    fprintf(stderr, "usage: geodesic ROUNDS < FIXES\n");
    return 2;
  }
  double (*fixes)[2] = NULL, latitude, longitude, meters = 0;
  int size = 0, room = 0;
  while (scanf("%lf %lf", &latitude, &longitude) == 2) {
    if (size == room) {
      room = room ? room * 2 : 4096;
      fixes = realloc(fixes, (size_t)room * sizeof *fixes);
      if (!fixes) return 1;
    }
    fixes[size][0] = latitude;
    fixes[size++][1] = longitude;
  }
  for (int round = 0; round < rounds; round++) {
    int64_t start = now();
    meters = 0;
    for (int fix = 1; fix < size; fix++) meters += distance(fixes[fix - 1], fixes[fix]);
    printf("%lld\n", (long long)(now() - start));
  }
  printf("%.6f\n", meters);
  free(fixes);
  return 0;
}
