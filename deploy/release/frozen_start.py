"""What the program of the folder runs first."""

from multiprocessing import freeze_support

if __name__ == "__main__":
    freeze_support()  # a process of a simulation is this same program, told to be one

    from mixbayes.cli import main

    main()
